/** An action in the palette; a screen adds its own while it is shown. */
export type Command = { readonly label: string; readonly hint?: string; readonly go: () => void }
