{{- /* What all pods have in common, those of services and of the timer: what they may do, where they run, and from which image. */ -}}

{{- define "taoloop.confinement" -}}
{{- $values := .Values -}}
serviceAccountName: {{ include "taoloop.serviceAccountName" . }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- with $values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "taoloop.containerConfinement" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{- /* The image of one service: dict "root" $ "name" NAME. */ -}}
{{- define "taoloop.image" -}}
{{- $image := .root.Values.image -}}
{{- $image.repository }}/{{ .name }}:{{ $image.tag | default .root.Chart.AppVersion }}
{{- end -}}
