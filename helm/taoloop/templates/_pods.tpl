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
{{- end -}}

{{- /* The nodes that a pod may run on: dict "root" $ "isOnGpu" BOOLEAN. */ -}}
{{- define "taoloop.placement" -}}
{{- $values := .root.Values -}}
{{- $vllm := $values.model.vllm -}}
{{- $nodes := ternary (merge dict $vllm.nodeSelector $values.nodeSelector) $values.nodeSelector .isOnGpu -}}
{{- $tolerations := ternary (concat $values.tolerations $vllm.tolerations) $values.tolerations .isOnGpu -}}
{{- with $nodes }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if and .isOnGpu $vllm.runtimeClassName }}
runtimeClassName: {{ $vllm.runtimeClassName }}
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
