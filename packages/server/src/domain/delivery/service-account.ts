import { createPrivateKey, type KeyObject } from 'node:crypto'

/**
 * The key of a Google service account; undefined: the text has none. Forms turn its line breaks into spaces, and JSON
 * into `\\n`.
 */
export function serviceAccountKey(text: string): KeyObject | undefined {
  const [, content = ''] = /-----BEGIN PRIVATE KEY-----([^-]+)-----END PRIVATE KEY-----/.exec(text) ?? []
  const der = Buffer.from(content.replaceAll('\\n', '').replaceAll(/\s/g, ''), 'base64')
  try {
    const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    return key.asymmetricKeyType === 'rsa' ? key : undefined
  } catch {
    return undefined
  }
}
