{{- /*
A CronJob that runs one command: dict "root" $ "name" NAME "image" SERVICE "timer" VALUES-OF-THE-TIMER "args" LIST "env" YAML.
The commands may be repeated at will, and services may run meanwhile.
*/ -}}
{{- define "taoloop.timer" -}}
{{- $root := .root -}}
apiVersion: batch/v1
kind: CronJob
metadata:
  # Kubernetes adds eleven characters for its jobs: 52 are left.
  name: {{ include "taoloop.fullname" $root | trunc (sub 51 (len .name) | int) | trimSuffix "-" }}-{{ .name }}
  labels:
    {{- include "taoloop.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .name }}
spec:
  schedule: {{ .timer.schedule | quote }}
  timeZone: {{ .timer.timeZone | quote }}
  # One that is late is made up for within the hour; two would only wait for each other.
  startingDeadlineSeconds: 3600
  concurrencyPolicy: Forbid
  successfulJobsHistoryLimit: 1
  failedJobsHistoryLimit: 3
  jobTemplate:
    metadata:
      labels:
        {{- include "taoloop.labels" $root | nindent 8 }}
        app.kubernetes.io/component: {{ .name }}
    spec:
      backoffLimit: 2
      activeDeadlineSeconds: {{ .timer.maxSeconds }}
      template:
        metadata:
          labels:
            {{- include "taoloop.labels" $root | nindent 12 }}
            app.kubernetes.io/component: {{ .name }}
            {{- with $root.Values.podLabels }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
        spec:
          restartPolicy: Never
          {{- include "taoloop.confinement" $root | nindent 10 }}
          {{- with include "taoloop.placement" (dict "root" $root "isOnGpu" false) | trim }}
          {{- . | nindent 10 }}
          {{- end }}
          containers:
            - name: {{ .name }}
              image: {{ include "taoloop.image" (dict "root" $root "name" .image) | quote }}
              imagePullPolicy: {{ $root.Values.image.pullPolicy }}
              args: {{ .args | toJson }}
              env:
                {{- .env | trim | nindent 16 }}
              resources:
                {{- toYaml .timer.resources | nindent 16 }}
              securityContext:
                {{- include "taoloop.containerConfinement" $root | nindent 16 }}
              volumeMounts:
                - {name: tmp, mountPath: /tmp}
          volumes:
            - name: tmp
              emptyDir: {sizeLimit: 64Mi}
{{- end -}}
