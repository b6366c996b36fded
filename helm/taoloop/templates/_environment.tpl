{{- /* The variables of one service: dict "root" $ "service" SERVICE "values" VALUES-OF-THE-SERVICE. */ -}}
{{- define "taoloop.environment" -}}
{{- $values := .root.Values -}}
{{- range .service.listen }}
- {name: {{ . }}, value: "0.0.0.0:{{ $.service.port }}"}
{{- end }}
- {name: TAOLOOP_TELEMETRY__METRICS_HOST, value: "0.0.0.0"}
- {name: TAOLOOP_TELEMETRY__METRICS_PORT, value: "{{ .service.metricsPort }}"}
{{- with $values.telemetry.otlpEndpoint }}
- {name: TAOLOOP_TELEMETRY__OTLP_ENDPOINT, value: {{ . | quote }}}
{{- end }}
- {name: TAOLOOP_TELEMETRY__SAMPLE_RATIO, value: {{ $values.telemetry.sampleRatio | quote }}}
- {name: TAOLOOP_LOG_LEVEL, value: {{ $values.logLevel }}}
- {name: TAOLOOP_SHUTDOWN_GRACE_SECONDS, value: {{ $values.shutdown.graceSeconds | quote }}}
- {name: TAOLOOP_GRPC__MAX_CONNECTION_AGE_SECONDS, value: {{ $values.grpc.maxConnectionAgeSeconds | quote }}}
- {name: TAOLOOP_GRPC__MAX_CONNECTION_AGE_GRACE_SECONDS, value: {{ $values.grpc.maxConnectionAgeGraceSeconds | quote }}}
{{- if .service.catalogue }}
- {name: TAOLOOP_CATALOGUE, value: {{ printf "/etc/taoloop/catalogue/%s" $values.catalogue.key | quote }}}
{{- end }}
{{- if .service.redis }}
- {name: TAOLOOP_REDIS__KEY_PREFIX, value: {{ $values.redis.keyPrefix | quote }}}
- name: TAOLOOP_REDIS__URL
  valueFrom: {secretKeyRef: {name: {{ $values.redis.secret.name }}, key: {{ $values.redis.secret.key }}}}
{{- end }}
{{- if .service.board }}
- {name: TAOLOOP_BOARD__REDIS__KEY_PREFIX, value: {{ $values.redis.keyPrefix | quote }}}
- name: TAOLOOP_BOARD__REDIS__URL
  valueFrom: {secretKeyRef: {name: {{ $values.redis.secret.name }}, key: {{ $values.redis.secret.key }}}}
{{- end }}
{{- if .service.drift }}
- {name: TAOLOOP_OBSERVATION_DRIFT__REDIS__KEY_PREFIX, value: {{ $values.redis.keyPrefix | quote }}}
- name: TAOLOOP_OBSERVATION_DRIFT__REDIS__URL
  valueFrom: {secretKeyRef: {name: {{ $values.redis.secret.name }}, key: {{ $values.redis.secret.key }}}}
{{- end }}
{{- if .service.ledger }}
- name: TAOLOOP_LEDGER__URL
  valueFrom: {secretKeyRef: {name: {{ $values.ledger.secret.name }}, key: {{ $values.ledger.secret.key }}}}
{{- end }}
{{- if and .service.memory $values.memory.secret.name }}
- name: TAOLOOP_MEMORY__WARM__URL
  valueFrom: {secretKeyRef: {name: {{ $values.memory.secret.name }}, key: {{ $values.memory.secret.key }}}}
{{- end }}
{{- if .service.toolSecrets }}
- {name: TAOLOOP_SECRETS_DIR, value: /etc/taoloop/secrets}
{{- end }}
{{- range $setting, $callee := .service.calls }}
# A headless name: the client sees every pod's address and spreads its calls over them.
- {name: {{ $setting }}, value: "dns:///{{ include "taoloop.fullname" $.root }}-{{ $callee }}"}
{{- end }}
{{- if and .service.model (ne $values.model.serve "none") }}
{{ include "taoloop.modelEnvironment" .root }}
{{- end }}
{{- with .values.slots }}
- {name: TAOLOOP_WORKER_SLOTS, value: {{ . | quote }}}
{{- end }}
{{- with .values.bases }}
- {name: TAOLOOP_BASES, value: {{ . | toJson | quote }}}
{{- end }}
{{- with .values.jobHandleSecret }}
- name: TAOLOOP_JOB_HANDLE_KEY
  valueFrom: {secretKeyRef: {name: {{ . }}, key: key}}
{{- end }}
{{- with .values.egressAllow }}
- {name: TAOLOOP_EGRESS__ALLOW, value: {{ . | toJson | quote }}}
{{- end }}
{{- range $name, $value := .values.env }}
- {name: {{ $name }}, value: {{ $value | quote }}}
{{- end }}
{{- end -}}
