const LINKS = new Set(['https:', 'mailto:'])
const LOGO_DATA = /^data:image\/(?:png|jpeg|webp|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}$/

/** The address of a link of the branding; undefined when it is neither an https page nor an email address. */
export function safeLink(text: string | null): string | undefined {
  return text !== null && LINKS.has(schemeOf(text)) ? text : undefined
}

/** The address of a picture of the branding. A picture never runs a script. */
export function safePicture(text: string | null): string | undefined {
  if (text === null) return undefined
  return LOGO_DATA.test(text) || schemeOf(text) === 'https:' ? text : undefined
}

function schemeOf(text: string): string {
  try {
    return new URL(text).protocol
  } catch {
    return ''
  }
}
