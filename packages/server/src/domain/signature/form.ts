/** Headers in which senders put a signature, its time or its id. A sample of a rejected request shows the form of these. */
const SIGNATURE_HEADERS: ReadonlySet<string> = new Set([
  'stripe-signature',
  'payment-signature',
  'x-hub-signature',
  'x-hub-signature-256',
  'x-shopify-hmac-sha256',
  'x-slack-signature',
  'x-slack-request-timestamp',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'svix-id',
  'svix-timestamp',
  'svix-signature',
  'x-signature',
  'x-service-signature',
])

/** Words that describe how a digest is made. Any other word may be a secret that someone put in the wrong place. */
const LABEL = /^(?:t|s|ts|v0|v1|v1a|v2|h1|md5|sha1|sha256|sha384|sha512|hmac|hmac-sha1|hmac-sha256)$/i
const ITEMS_MAX = 12

/** The forms of the headers that can have a signature. `own` is the header that the endpoint reads, with its prefix. */
export function signatureForms(
  headers: Readonly<Record<string, string | undefined>>,
  own: { readonly header: string; readonly prefix: string } | undefined,
): Record<string, string> {
  const forms: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    const isOwn = own?.header.toLowerCase() === name
    if (value === undefined || (!isOwn && !SIGNATURE_HEADERS.has(name))) continue
    forms[name] = formOf(value, isOwn ? own.prefix : '')
  }
  return forms
}

/** `t=1700000000,v1=ab…` → `t=<10 digits>,v1=<64 hex>`: the form of a value without its content. */
export function formOf(value: string, prefix = ''): string {
  const known = prefix !== '' && value.startsWith(prefix) ? prefix : ''
  const items = value.slice(known.length).split(/([,; ])/, 2 * ITEMS_MAX)
  return known + items.map((item, at) => (at % 2 === 1 ? item : itemForm(item))).join('')
}

function itemForm(item: string): string {
  if (item === '' || LABEL.test(item)) return item
  const equals = item.indexOf('=')
  const label = equals > 0 ? item.slice(0, equals) : ''
  return LABEL.test(label) ? `${label}=${kindOf(item.slice(equals + 1))}` : kindOf(item)
}

function kindOf(text: string): string {
  if (text === '') return ''
  if (/^\d{1,15}$/.test(text)) return `<${text.length} digits>`
  if (/^[0-9a-f]+$/.test(text)) return `<${text.length} hex>`
  if (/^[0-9A-F]+$/.test(text)) return `<${text.length} hex in capitals>`
  if (/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return `<${text.length} base64>`
  if (/^[A-Za-z0-9_-]+={0,2}$/.test(text)) return `<${text.length} base64url>`
  return `<${text.length} characters>`
}
