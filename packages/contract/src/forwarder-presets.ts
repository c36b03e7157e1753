import { z } from 'zod'

/** Receivers of OpenTelemetry data that forwarders know. */

export const FORWARDER_PRESET_IDS = [
  'axiom',
  'better_stack',
  'datadog',
  'grafana',
  'honeycomb',
  'new_relic',
  'generic',
] as const

export const ForwarderPreset = z.object({
  id: z.enum(FORWARDER_PRESET_IDS),
  name: z.string(),
  endpoint: z.string().describe('The form of the endpoint. Replace the parts in braces.'),
  headers: z.array(
    z.object({
      name: z.string(),
      form: z.string().describe('The form of the value.'),
      required: z.boolean(),
    }),
  ),
  encodings: z.array(z.enum(['json', 'protobuf'])).describe('The encodings that the receiver documents.'),
  note: z.string(),
  docs_url: z.string().nullable().describe('The page that the settings were read from.'),
  checked: z.string().nullable().describe('When they were read.'),
})
export type ForwarderPreset = z.output<typeof ForwarderPreset>

const CHECKED = '2026-11-23'
const BOTH: ForwarderPreset['encodings'] = ['json', 'protobuf']

export const FORWARDER_PRESETS: readonly ForwarderPreset[] = [
  {
    id: 'axiom',
    name: 'Axiom',
    endpoint: 'https://api.axiom.co',
    headers: [
      { name: 'Authorization', form: 'Bearer {API token}', required: true },
      { name: 'X-Axiom-Dataset', form: '{dataset}', required: true },
    ],
    encodings: BOTH,
    note: 'Axiom requires a separate dataset for each signal. Create two forwarders, each with one signal and its dataset.',
    docs_url: 'https://axiom.co/docs/send-data/opentelemetry',
    checked: CHECKED,
  },
  {
    id: 'better_stack',
    name: 'Better Stack',
    endpoint: 'https://{ingesting host}',
    headers: [{ name: 'Authorization', form: 'Bearer {source token}', required: true }],
    encodings: BOTH,
    note: 'The page of the source shows the host and the token.',
    docs_url: 'https://betterstack.com/docs/logs/ingesting-data/http/traces',
    checked: CHECKED,
  },
  {
    id: 'datadog',
    name: 'Datadog',
    endpoint: 'https://otlp.{site}',
    headers: [
      { name: 'dd-api-key', form: '{API key}', required: true },
      { name: 'dd-otlp-source', form: '{name given by Datadog}', required: false },
    ],
    encodings: ['protobuf'],
    note: 'Replace {site} with your Datadog site, such as datadoghq.com. Datadog must enable traces for your account, and then gives you the value of dd-otlp-source.',
    docs_url: 'https://docs.datadoghq.com/opentelemetry/setup/otlp_ingest/',
    checked: CHECKED,
  },
  {
    id: 'grafana',
    name: 'Grafana Cloud',
    endpoint: 'https://otlp-gateway-{zone}.grafana.net/otlp',
    headers: [{ name: 'Authorization', form: 'Basic {base64 of instance id:token}', required: true }],
    encodings: BOTH,
    note: 'The token belongs to an access policy with logs:write and traces:write.',
    docs_url: 'https://grafana.com/docs/grafana-cloud/observe-and-act/send-data/otlp/send-data-otlp/',
    checked: CHECKED,
  },
  {
    id: 'honeycomb',
    name: 'Honeycomb',
    endpoint: 'https://api.honeycomb.io',
    headers: [
      { name: 'x-honeycomb-team', form: '{ingest key}', required: true },
      { name: 'x-honeycomb-dataset', form: '{dataset}', required: false },
    ],
    encodings: BOTH,
    note: 'In the EU the endpoint is https://api.eu1.honeycomb.io. Only classic environments need the dataset.',
    docs_url: 'https://docs.honeycomb.io/send-data/opentelemetry/',
    checked: CHECKED,
  },
  {
    id: 'new_relic',
    name: 'New Relic',
    endpoint: 'https://otlp.nr-data.net',
    headers: [{ name: 'api-key', form: '{license key}', required: true }],
    encodings: BOTH,
    note: 'In the EU the endpoint is https://otlp.eu01.nr-data.net. New Relic recommends protobuf, and takes 1 MB in a request.',
    docs_url: 'https://docs.newrelic.com/docs/opentelemetry/best-practices/opentelemetry-otlp/',
    checked: CHECKED,
  },
  {
    id: 'generic',
    name: 'Any OTLP/HTTP receiver',
    endpoint: 'https://{host}:4318',
    headers: [],
    encodings: BOTH,
    note: 'An OpenTelemetry Collector, or any other receiver. Postroad appends /v1/logs and /v1/traces.',
    docs_url: 'https://opentelemetry.io/docs/specs/otlp/#otlphttp-request',
    checked: CHECKED,
  },
]
