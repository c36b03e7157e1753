/** A reason's status, and the sentences a caller reads when nobody knows better ones. */
export type ReasonTexts = Record<string, { readonly status: number; readonly text: string }>
