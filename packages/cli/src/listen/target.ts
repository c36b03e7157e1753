import { EXIT, Failure } from '../failure.ts'

/** The URL that `listen` forwards to: from a port, a host with a port, or a URL. */
export function targetOf(named: string, path: string | undefined): URL {
  const url = urlOf(named)
  if (url === undefined)
    throw new Failure(
      `"${named}" is not a port or a URL. Write it as 3000 or http://localhost:3000/webhooks.`,
      EXIT.usage,
    )
  if (path === undefined) return url
  if (!path.startsWith('/')) throw new Failure(`--path must start with a slash, such as /webhooks.`, EXIT.usage)
  if (url.pathname !== '/' || url.search !== '')
    throw new Failure('Name the path in the URL or with --path, not in both.', EXIT.usage)
  return new URL(path, url)
}

function urlOf(named: string): URL | undefined {
  const isPort = /^\d+$/.test(named)
  if (isPort && (Number(named) < 1 || Number(named) > 65_535)) return undefined
  const text = isPort ? `http://localhost:${named}` : /^[a-z]+:\/\//i.test(named) ? named : `http://${named}`
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.hash === ''
  return isPlain ? url : undefined
}
