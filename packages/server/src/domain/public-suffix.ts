import { getPublicSuffix } from 'tldts'

/**
 * Whether anyone can register names directly below this host, such as `com`, `co.uk` or `github.io`. Such names belong to
 * strangers. The list is the Public Suffix List with its private part; a name that is not on it counts by its last label.
 */
export function isPublicSuffix(host: string): boolean {
  return getPublicSuffix(host, { allowPrivateDomains: true }) === host
}
