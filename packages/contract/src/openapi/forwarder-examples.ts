import type { BodyExamples } from './body-examples.ts'
import { exampleId } from './example-id.ts'

/** Examples of forwarders. */
export const FORWARDER_BODIES = {
  forwarders: {
    create: {
      name: 'Honeycomb',
      preset: 'honeycomb',
      endpoint: 'https://api.honeycomb.io',
      headers: { 'x-honeycomb-team': 'the ingest key' },
      sample_rate: 0.1,
    },
    test: { forwarder_id: exampleId('forwarder') },
    update: { sample_rate: 1 },
  },
} satisfies BodyExamples

const PROGRESS = {
  state: 'active',
  sent_until: '2026-11-21T09:57:11.263Z',
  lag_seconds: 2,
  sent: 1_284,
  last_success_at: '2026-11-21T09:57:11.263Z',
  last_error: null,
  failures: 0,
  failing_since: null,
  next_try_at: '2026-11-21T09:57:16.263Z',
  expired: 0,
  refused: 0,
  refused_text: null,
  lost_at: null,
}

export const FORWARDER_MEMBERS: Readonly<Record<string, unknown>> = {
  'Forwarder.name': 'Honeycomb',
  'Forwarder.preset': 'honeycomb',
  'Forwarder.endpoint': 'https://api.honeycomb.io',
  'Forwarder.headers': { 'x-honeycomb-team': { has_value: true } },
  'Forwarder.state': 'active',
  'Forwarder.stopped_reason': null,
  'Forwarder.redact_headers': ['x-customer'],
  'Forwarder.redact_fields': ['email'],
  'Forwarder.progress': { logs: PROGRESS, traces: null },
  'Forwarder.signals': ['logs'],
  'ForwarderPreset.id': 'honeycomb',
  'ForwarderPreset.name': 'Honeycomb',
  'ForwarderPreset.endpoint': 'https://api.honeycomb.io',
  'ForwarderPreset.headers': [{ name: 'x-honeycomb-team', form: '{ingest key}', required: true }],
  'ForwarderPreset.note': 'In the EU the endpoint is https://api.eu1.honeycomb.io.',
  'ForwarderPreset.docs_url': 'https://docs.honeycomb.io/send-data/opentelemetry/',
  'ForwarderPreset.checked': '2026-11-23',
}
