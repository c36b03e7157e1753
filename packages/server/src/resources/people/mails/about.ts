import type { About } from '../../about.ts'

export const about = {
  tables: {
    mails: { owner: 'installation', sealed: ['sealed'] },
  },
} as const satisfies About
