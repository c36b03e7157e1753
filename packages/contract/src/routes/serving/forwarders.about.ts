import type { About } from '../../about.ts'
import { type forwarders, Forwarder, ForwarderProgress } from './forwarders.ts'
import { ForwarderPreset } from '../../forwarder-presets.ts'
import { exampleId } from '../../openapi/example-id.ts'

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

export const about = {
  text: 'Receivers of the logs and traces of a project.',
  refusals: { create: ['name_taken', 'forwarder_limit_reached'], update: ['name_taken'] },
  schemas: { Forwarder, ForwarderPreset, ForwarderProgress },
  bodies: {
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
  members: {
    Forwarder: {
      name: 'Honeycomb',
      preset: 'honeycomb',
      endpoint: 'https://api.honeycomb.io',
      headers: { 'x-honeycomb-team': { has_value: true } },
      state: 'active',
      stopped_reason: null,
      redact_headers: ['x-customer'],
      redact_fields: ['email'],
      progress: { logs: PROGRESS, traces: null },
      signals: ['logs'],
    },
    ForwarderPreset: {
      id: 'honeycomb',
      name: 'Honeycomb',
      endpoint: 'https://api.honeycomb.io',
      headers: [{ name: 'x-honeycomb-team', form: '{ingest key}', required: true }],
      note: 'In the EU the endpoint is https://api.eu1.honeycomb.io.',
      docs_url: 'https://docs.honeycomb.io/send-data/opentelemetry/',
      checked: '2026-11-23',
    },
  },
} satisfies About<typeof forwarders>
