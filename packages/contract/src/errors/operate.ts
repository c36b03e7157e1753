import type { ReasonTexts } from './reason-texts.ts'

/** Refusals about the installation and its operators. */
export const operate = {} as const satisfies ReasonTexts
