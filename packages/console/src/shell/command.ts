/** Something that can be done from the palette: a screen adds what it can do while it is shown. */
export type Command = { readonly label: string; readonly hint?: string; readonly go: () => void }
