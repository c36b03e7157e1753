import type { About } from '../../about.ts'

export const about = {
  tables: {
    webhooks: { sealed: ['secret', 'previous_secret', 'verify_token', 'url_slug', 'previous_url_slug'] },
  },
} as const satisfies About
