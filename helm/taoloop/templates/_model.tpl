{{- /*
The language model that plans where the graph planner is unsure. `model.serve` says who serves it: `none`; `sidecar`, a
container of vLLM in the pod of each thought worker; `service`, pods of vLLM behind a Service; `external`, a server of yours.
All of these take the root.
*/ -}}

{{- define "taoloop.modelUrl" -}}
{{- $model := .Values.model -}}
{{- if eq $model.serve "sidecar" -}}http://127.0.0.1:8000/v1
{{- else if eq $model.serve "service" -}}http://{{ include "taoloop.fullname" . }}-model:8000/v1
{{- else if eq $model.serve "external" -}}{{ required "Set model.url: model.serve is external." $model.url }}
{{- end -}}
{{- end -}}

{{- /* What the workers are told. */ -}}
{{- define "taoloop.modelEnvironment" -}}
{{- $model := .Values.model -}}
{{- if ne $model.serve "none" -}}
- {name: TAOLOOP_MODEL__URL, value: {{ include "taoloop.modelUrl" . | quote }}}
- {name: TAOLOOP_MODEL__MODEL, value: {{ $model.name | quote }}}
- {name: TAOLOOP_MODEL__PROFILE, value: {{ $model.profile | quote }}}
- {name: TAOLOOP_MODEL__TIMEOUT_SECONDS, value: {{ $model.timeoutSeconds | quote }}}
- {name: TAOLOOP_MODEL__MAX_IN_FLIGHT, value: {{ $model.maxInFlight | quote }}}
{{- with $model.apiKeySecret.name }}
- name: TAOLOOP_MODEL__API_KEY
  valueFrom: {secretKeyRef: {name: {{ . }}, key: {{ $model.apiKeySecret.key }}}}
{{- end }}
{{- end -}}
{{- end -}}

{{- /* The options of `vllm serve`. Beside other containers of a pod it listens where nobody else can call it. */ -}}
{{- define "taoloop.vllmOptions" -}}
{{- $model := .Values.model -}}
{{- $vllm := $model.vllm -}}
- /models/{{ $vllm.path }}
- --served-model-name={{ $model.name }}
- --host={{ ternary "127.0.0.1" "0.0.0.0" (eq $model.serve "sidecar") }}
- --port=8000
- --max-model-len={{ $vllm.contextTokens }}
- --max-num-seqs={{ $vllm.maxNumSeqs }}
- --max-num-batched-tokens={{ $vllm.maxBatchedTokens }}
- --gpu-memory-utilization={{ $vllm.gpuMemoryShare }}
- --dtype={{ $vllm.dtype }}
{{- with $vllm.quantization }}
- --quantization={{ . }}
{{- end }}
{{- with $vllm.attentionBackend }}
- --attention-backend={{ . }}
{{- end }}
{{- with $vllm.flashAttentionVersion }}
- --attention-config.flash_attn_version={{ . }}
{{- end }}
- --enable-prefix-caching
- --enable-prompt-tokens-details
- --structured-outputs-config.backend=xgrammar
- --structured-outputs-config.disable_any_whitespace=true
{{- range $vllm.moreOptions }}
- {{ . | quote }}
{{- end }}
{{- end -}}

{{- /* The container of vLLM. */ -}}
{{- define "taoloop.vllmContainer" -}}
{{- $model := .Values.model -}}
{{- $vllm := $model.vllm -}}
- name: vllm
  image: {{ printf "%s:%s" $vllm.image.repository $vllm.image.tag | quote }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  # Named here, since the image's own entry point has changed more than once.
  command: [vllm, serve]
  args:
    {{- include "taoloop.vllmOptions" . | nindent 4 }}
  ports:
    - {name: model, containerPort: 8000}
  env:
    # Nothing is fetched and nothing is reported: the model is in the volume.
    - {name: HF_HUB_OFFLINE, value: "1"}
    - {name: VLLM_NO_USAGE_STATS, value: "1"}
    # Its user is in no list of users, and its files are compiled kernels, which are made again after a start.
    - {name: USER, value: vllm}
    - {name: HOME, value: /cache}
    {{- with $model.apiKeySecret.name }}
    - name: VLLM_API_KEY
      valueFrom: {secretKeyRef: {name: {{ . }}, key: {{ $model.apiKeySecret.key }}}}
    {{- end }}
  {{- include "taoloop.vllmProbes" . | nindent 2 }}
  lifecycle:
    preStop:
      # It outlives the calls that it was given: those of the worker that stops with it, or those of all until they end.
      sleep: {seconds: {{ include "taoloop.vllmLinger" . }}}
  resources:
    {{- toYaml $vllm.resources | nindent 4 }}
  securityContext:
    {{- include "taoloop.containerConfinement" . | nindent 4 }}
  volumeMounts:
    - {name: models, mountPath: /models, readOnly: true}
    - {name: model-cache, mountPath: /cache}
    - {name: model-memory, mountPath: /dev/shm}
    - {name: tmp, mountPath: /tmp}
{{- end -}}

{{- define "taoloop.vllmLinger" -}}
{{- $shutdown := .Values.shutdown -}}
{{- if eq .Values.model.serve "sidecar" -}}
{{- add $shutdown.preStopSeconds $shutdown.graceSeconds $shutdown.graceSeconds -}}
{{- else -}}
{{- add $shutdown.preStopSeconds (ceil .Values.model.timeoutSeconds | int) -}}
{{- end -}}
{{- end -}}

{{- define "taoloop.vllmVolumes" -}}
{{- $vllm := .Values.model.vllm -}}
- name: models
  {{- toYaml $vllm.volume | nindent 2 }}
- name: model-cache
  emptyDir: {sizeLimit: 8Gi}
# Its processes pass tensors to each other.
- name: model-memory
  emptyDir: {medium: Memory, sizeLimit: 2Gi}
{{- end -}}

{{- /* Loading takes minutes; until then, and whenever it is away, the workers plan without it. */ -}}
{{- define "taoloop.vllmProbes" -}}
{{- $vllm := .Values.model.vllm -}}
{{- $isSidecar := eq .Values.model.serve "sidecar" -}}
startupProbe:
  {{- include "taoloop.vllmProbe" $isSidecar | nindent 2 }}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: {{ divf $vllm.startupSeconds 10 | ceil | int }}
readinessProbe:
  {{- include "taoloop.vllmProbe" $isSidecar | nindent 2 }}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 2
livenessProbe:
  {{- include "taoloop.vllmProbe" $isSidecar | nindent 2 }}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
{{- end -}}

{{- /* The kubelet calls the pod's address, where a sidecar does not listen: there the question is asked from inside. */ -}}
{{- define "taoloop.vllmProbe" -}}
{{- if . -}}
exec:
  command: [python3, -c, "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/health', timeout=4)"]
{{- else -}}
httpGet: {path: /health, port: model}
{{- end -}}
{{- end -}}
