{{- /* Who sets the number of pods: both take dict "root" $ "name" NAME "values" VALUES-OF-THE-SERVICE. */ -}}

{{- define "taoloop.horizontalPodAutoscaler" -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ include "taoloop.fullname" .root }}-{{ .name }}
  labels:
    {{- include "taoloop.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .name }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ include "taoloop.fullname" .root }}-{{ .name }}
  minReplicas: {{ .values.autoscaling.minReplicas }}
  maxReplicas: {{ .values.autoscaling.maxReplicas }}
  metrics:
    # Of taoloop's container alone: a model beside it works for it, and not on its account.
    - type: ContainerResource
      containerResource:
        name: cpu
        container: {{ .name }}
        target: {type: Utilization, averageUtilization: {{ .values.autoscaling.targetCpuPercent }}}
{{- end -}}

{{- define "taoloop.scaledObject" -}}
{{- $keda := .values.keda -}}
{{- $address := required "Set thoughtWorker.keda.address: KEDA asks Redis itself." $keda.address -}}
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: {{ include "taoloop.fullname" .root }}-{{ .name }}
  labels:
    {{- include "taoloop.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .name }}
spec:
  scaleTargetRef:
    name: {{ include "taoloop.fullname" .root }}-{{ .name }}
  minReplicaCount: {{ $keda.minReplicas }}
  maxReplicaCount: {{ $keda.maxReplicas }}
  pollingInterval: {{ $keda.pollingIntervalSeconds }}
  cooldownPeriod: {{ $keda.cooldownSeconds }}
  # A queue that cannot be seen may be long: what runs stays, and one pod at least.
  fallback:
    failureThreshold: 3
    replicas: {{ max 1 $keda.minReplicas }}
    behavior: currentReplicasIfHigher
  triggers:
    {{- range list "jobs" "jobs:background" }}
    {{- $queue := merge (dict "stream" .) $ }}
    - type: redis-streams
      metadata:
        {{- include "taoloop.queue" $queue | nindent 8 }}
        lagCount: {{ $keda.lagCount | quote }}
        activationLagCount: {{ $keda.activationLagCount | quote }}
      {{- include "taoloop.queueAuthentication" $queue | nindent 6 }}
    # A request in work is no lag any more: without this trigger the pod that works on the last one would be stopped.
    - type: redis-streams
      metadata:
        {{- include "taoloop.queue" $queue | nindent 8 }}
        pendingEntriesCount: {{ $.values.slots | quote }}
      {{- include "taoloop.queueAuthentication" $queue | nindent 6 }}
    {{- end }}
{{- end -}}

{{- define "taoloop.queue" -}}
{{- $keda := .values.keda -}}
address: {{ $keda.address | quote }}
databaseIndex: {{ $keda.databaseIndex | quote }}
enableTLS: {{ $keda.enableTls | quote }}
stream: "{{ .root.Values.redis.keyPrefix }}:{thought}:{{ .stream }}"
consumerGroup: thinkers
{{- end -}}

{{- define "taoloop.queueAuthentication" -}}
{{- with .values.keda.authentication -}}
authenticationRef: {name: {{ . }}}
{{- end -}}
{{- end -}}
