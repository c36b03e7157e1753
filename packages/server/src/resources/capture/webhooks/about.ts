import type { About } from '../../about.ts'

export const about = {
  tables: {
    webhooks: {
      exported: 'webhooks',
      sealed: ['secret', 'previous_secret', 'verify_token', 'url_slug', 'previous_url_slug'],
    },
    webhook_versions: { exported: 'webhook_versions' },
    refused_samples: { leftOut: 'Redacted samples of rejected requests, which are deleted after 7 days.' },
  },
} as const satisfies About
