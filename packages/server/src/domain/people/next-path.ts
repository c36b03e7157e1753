const NOWHERE = 'http://nowhere.invalid'
/** A cookie has room for it, sealed, during a sign-in with an identity provider. */
const CHARS_MAX = 2_000

/**
 * The page after a sign-in: a path of this server, or `/`. A target that is too long, or names a host in any form that a
 * browser might accept (`//host`, `/\host`, a scheme, control characters), is not followed.
 */
export function nextPath(asked: string | undefined): string {
  // oxlint-disable-next-line no-control-regex -- browsers drop these from URLs, so that "/\t/host" becomes "//host"
  if (asked === undefined || !asked.startsWith('/') || /^\/[/\\]|[\\\u0000-\u001f\u007f]/.test(asked)) return '/'
  try {
    const url = new URL(asked, NOWHERE)
    if (url.origin !== NOWHERE || url.pathname.startsWith('//')) return '/'
    const path = url.pathname + url.search + url.hash
    return path.length > CHARS_MAX ? '/' : path
  } catch {
    return '/'
  }
}
