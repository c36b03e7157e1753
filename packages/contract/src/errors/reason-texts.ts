/** The status of a reason, and its default sentence. */
export type ReasonTexts = Record<string, { readonly status: number; readonly text: string }>
