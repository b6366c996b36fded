{{- /* Names and labels. */ -}}

{{- define "taoloop.fullname" -}}
{{- $name := .Values.fullnameOverride -}}
{{- if not $name -}}
{{- $name = ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) (contains .Chart.Name .Release.Name) -}}
{{- end -}}
{{- /* Leaves room for the longest suffix, "-thought-worker", in the 63 characters of a DNS label. */ -}}
{{- $name | trunc 48 | trimSuffix "-" -}}
{{- end -}}

{{- define "taoloop.serviceAccountName" -}}
{{- $made := ternary (include "taoloop.fullname" .) "default" .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default $made -}}
{{- end -}}

{{- define "taoloop.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/name: taoloop
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- /* What selects the pods of one service: dict "root" $ "name" NAME. */ -}}
{{- define "taoloop.selector" -}}
app.kubernetes.io/name: taoloop
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end -}}

{{- define "taoloop.catalogueConfigMap" -}}
{{- if .Values.catalogue.bundle -}}
{{- include "taoloop.fullname" . }}-catalogue
{{- else -}}
{{- required "Set catalogue.bundle (--set-file catalogue.bundle=…) or catalogue.configMap." .Values.catalogue.configMap -}}
{{- end -}}
{{- end -}}
