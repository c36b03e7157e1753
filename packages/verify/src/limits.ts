/** How old a signature may be, how long after its end a token counts, and how many fields a signed form may have, where the settings say nothing. */
export const TOLERANCE_SECONDS = 300
export const LEEWAY_SECONDS = 60
export const FORM_FIELDS_MAX = 1_000
