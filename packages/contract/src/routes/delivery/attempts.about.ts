import type { About } from '../../about.ts'
import { SentBody, SentRequest } from '../../sent-request.ts'
import type { attempts } from './attempts.ts'

export const about = {
  text: 'Attempts of deliveries, with the request as it was sent.',
  schemas: { SentBody, SentRequest },
} satisfies About<typeof attempts>
