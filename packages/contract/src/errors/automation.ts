import type { ReasonTexts } from './reason-texts.ts'

/** Refusals about workflows and their instances. */
export const automation = {
  workflow_limit_reached: {
    status: 409,
    text: 'This project has the maximum number of workflows. Delete one first.',
  },
} as const satisfies ReasonTexts
