{{- /* The Deployment of one service: dict "root" $ "name" NAME "service" SERVICE "values" VALUES-OF-THE-SERVICE. */ -}}
{{- define "taoloop.deployment" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
{{- $shutdown := $values.shutdown -}}
{{- $hasVllm := and (default false .service.model) (eq $values.model.serve "sidecar") -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "taoloop.fullname" $root }}-{{ .name }}
  labels:
    {{- include "taoloop.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .name }}
spec:
  {{- if not (include "taoloop.isScaled" (dict "values" .values)) }}
  replicas: {{ .values.replicas }}
  {{- end }}
  revisionHistoryLimit: 3
  strategy:
    # With a model in the pod a new one before the old would need a GPU to spare.
    rollingUpdate: {{ ternary "{maxUnavailable: 1, maxSurge: 0}" "{maxUnavailable: 0, maxSurge: 1}" $hasVllm }}
  selector:
    matchLabels:
      {{- include "taoloop.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "taoloop.labels" $root | nindent 8 }}
        app.kubernetes.io/component: {{ .name }}
        {{- with $values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      annotations:
        prometheus.io/scrape: "true"
        prometheus.io/port: {{ .service.metricsPort | quote }}
        {{- if and .service.catalogue $values.catalogue.bundle }}
        # Another catalogue starts other pods: a service reads it once.
        taoloop.dev/catalogue: {{ $values.catalogue.bundle | sha256sum }}
        {{- end }}
        {{- with $values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      {{- include "taoloop.confinement" $root | nindent 6 }}
      {{- with include "taoloop.placement" (dict "root" $root "isOnGpu" $hasVllm) | trim }}
      {{- . | nindent 6 }}
      {{- end }}
      # The kill comes after the wait for clients, the calls in progress, the runs and jobs without a caller, and a margin.
      terminationGracePeriodSeconds: {{ add $shutdown.preStopSeconds $shutdown.graceSeconds $shutdown.graceSeconds $shutdown.marginSeconds }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "taoloop.selector" . | nindent 14 }}
      containers:
        - name: {{ .name }}
          image: {{ include "taoloop.image" . | quote }}
          imagePullPolicy: {{ $values.image.pullPolicy }}
          args: {{ concat (list "serve") .service.serve | toJson }}
          ports:
            - {name: grpc, containerPort: {{ .service.port }}}
            - {name: metrics, containerPort: {{ .service.metricsPort }}}
          env:
            {{- include "taoloop.environment" . | trim | nindent 12 }}
          {{- include "taoloop.probes" . | nindent 10 }}
          {{- if $shutdown.preStopSeconds }}
          lifecycle:
            preStop:
              sleep: {seconds: {{ $shutdown.preStopSeconds }}}
          {{- end }}
          resources:
            {{- toYaml .values.resources | nindent 12 }}
          securityContext:
            {{- include "taoloop.containerConfinement" $root | nindent 12 }}
          volumeMounts:
            - {name: tmp, mountPath: /tmp}
            {{- if .service.catalogue }}
            - {name: catalogue, mountPath: /etc/taoloop/catalogue, readOnly: true}
            {{- end }}
            {{- if .service.toolSecrets }}
            - {name: tool-secrets, mountPath: /etc/taoloop/secrets, readOnly: true}
            {{- end }}
        {{- if $hasVllm }}
        {{- include "taoloop.vllmContainer" $root | nindent 8 }}
        {{- end }}
      volumes:
        - name: tmp
          emptyDir: {sizeLimit: {{ ternary "1Gi" "64Mi" $hasVllm }}}
        {{- if .service.catalogue }}
        - name: catalogue
          configMap: {name: {{ include "taoloop.catalogueConfigMap" $root }}}
        {{- end }}
        {{- if .service.toolSecrets }}
        - name: tool-secrets
          secret: {secretName: {{ .service.toolSecrets }}, defaultMode: 288} # 0440
        {{- end }}
        {{- if $hasVllm }}
        {{- include "taoloop.vllmVolumes" $root | nindent 8 }}
        {{- end }}
{{- end -}}

{{- /*
Startup and liveness ask whether the process answers at all, under the name `liveness`; readiness asks whether it can do
its work. Without Redis a pod gets no calls, but starting it again would not bring Redis back.
*/ -}}
{{- define "taoloop.probes" -}}
{{- $probes := .root.Values.probes -}}
startupProbe:
  grpc: {port: {{ .service.port }}, service: liveness}
  periodSeconds: 2
  timeoutSeconds: {{ $probes.timeoutSeconds }}
  failureThreshold: {{ divf $probes.startupSeconds 2 | ceil | int }}
readinessProbe:
  grpc: {port: {{ .service.port }}}
  periodSeconds: {{ $probes.periodSeconds }}
  timeoutSeconds: {{ $probes.timeoutSeconds }}
  failureThreshold: {{ $probes.readinessFailures }}
livenessProbe:
  grpc: {port: {{ .service.port }}, service: liveness}
  periodSeconds: {{ $probes.periodSeconds }}
  timeoutSeconds: {{ $probes.timeoutSeconds }}
  failureThreshold: {{ $probes.livenessFailures }}
{{- end -}}
