{{- /*
The services and what tells them apart; everything else is the same for all and stands in _deployment.tpl.

  values     key in values.yaml
  serve      what `taoloop serve` is told to run
  port, metricsPort, listen (the settings that name the port)
  redis, ledger, memory (warm, of who hosts the loop), board (of the action replicas, on Redis), drift (of the observation replicas, there too), catalogue, toolSecrets: what it is given
  model      whether it asks the language model
  calls      the services whose addresses it is given: setting: service
*/ -}}
{{- define "taoloop.services" -}}
thought:
  values: thought
  serve: [thought{{ if not .Values.loop.separate }}, loop{{ end }}]
  port: 7701
  metricsPort: 9701
  listen: [TAOLOOP_THOUGHT_LISTEN{{ if not .Values.loop.separate }}, TAOLOOP_LOOP_LISTEN{{ end }}]
  redis: true
  catalogue: true
  {{- if not .Values.loop.separate }}
  memory: true
  calls: {TAOLOOP_ACTION_ADDRESS: "action:7702", TAOLOOP_OBSERVATION_ADDRESS: "observation:7703"}
  {{- end }}
thought-worker:
  values: thoughtWorker
  serve: [thought-worker]
  port: 7704
  metricsPort: 9704
  listen: [TAOLOOP_WORKER_HEALTH_LISTEN]
  redis: true
  catalogue: true
  model: true
action:
  values: action
  serve: [action]
  port: 7702
  metricsPort: 9702
  listen: [TAOLOOP_ACTION_LISTEN]
  ledger: true
  board: true
  catalogue: true
  toolSecrets: {{ .Values.action.toolSecrets | quote }}
observation:
  values: observation
  serve: [observation]
  port: 7703
  metricsPort: 9703
  listen: [TAOLOOP_OBSERVATION_LISTEN]
  drift: true
  catalogue: true
{{- if .Values.loop.separate }}
loop:
  values: loop
  serve: [loop]
  port: 7701
  metricsPort: 9701
  listen: [TAOLOOP_LOOP_LISTEN]
  redis: true
  memory: true
  calls:
    TAOLOOP_THOUGHT_ADDRESS: "thought:7701"
    TAOLOOP_ACTION_ADDRESS: "action:7702"
    TAOLOOP_OBSERVATION_ADDRESS: "observation:7703"
{{- end }}
{{- end -}}

{{- /* Whether something else sets the number of pods: dict "values" VALUES-OF-THE-SERVICE. Empty is no. */ -}}
{{- define "taoloop.isScaled" -}}
{{- if or .values.autoscaling.enabled (dig "keda" "enabled" false .values) -}}yes{{- end -}}
{{- end -}}
