/**
 * The first of these hosts directly below which anyone can register names, such as `com`, `co.uk` or `github.io`. Such names belong to
 * strangers. The list is the Public Suffix List with its private part; a name that is not on it counts by its last label.
 */
export async function findPublicSuffix(hosts: readonly string[]): Promise<string | undefined> {
  if (hosts.length === 0) return undefined
  const { getPublicSuffix } = await import('tldts')
  return hosts.find((host) => getPublicSuffix(host, { allowPrivateDomains: true }) === host)
}
