import type { ReasonTexts } from './reason-texts.ts'

/** Refusals about sources and triggers. */
export const sources = {
  source_limit_reached: {
    status: 409,
    text: 'This project has the maximum number of these resources. Delete one that is no longer needed.',
  },
} as const satisfies ReasonTexts
