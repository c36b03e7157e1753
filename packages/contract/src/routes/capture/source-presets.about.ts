import type { About } from '../../about.ts'
import { type sourcePresets, SourcePreset } from './source-presets.ts'

export const about = {
  text: 'Settings for well-known providers.',
  schemas: { SourcePreset },
  members: {
    SourcePreset: {
      id: 'github',
      name: 'GitHub',
      docs_url: 'https://docs.github.com/webhooks',
      settings: {
        verification: { scheme: 'code_host' },
        idempotency: { header: 'X-GitHub-Delivery' },
        event_title: { header: 'X-GitHub-Event' },
        handshake: { kind: 'none' },
        response: null,
        body_as: 'contract',
        split: null,
      },
      signature_header: 'X-Hub-Signature-256',
      secret: 'Webhook secret',
      setup: ['In the repository, open Settings and Webhooks, and add the URL.'],
    },
  },
} satisfies About<typeof sourcePresets>
