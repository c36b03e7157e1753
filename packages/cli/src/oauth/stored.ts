import { whileLocked } from '../config-folder.ts'
import { changeProfiles, profilesFile, readProfiles } from '../profiles.ts'
import { isFresh, refreshed, type OauthTokens } from './tokens.ts'

/**
 * The access token of a profile, refreshed if it is about to end. A refresh token works once, and a second use ends the connection, so
 * only one process refreshes at a time and the others read the token that it has stored.
 */
export async function freshToken(named: string): Promise<string> {
  const known = await storedTokens(named)
  if (known !== undefined && isFresh(known.tokens)) return known.tokens.access_token
  return whileLocked(profilesFile(), async () => {
    const stored = await storedTokens(named)
    if (stored === undefined) return ''
    if (isFresh(stored.tokens)) return stored.tokens.access_token
    const oauth = await refreshed(stored.url, stored.tokens)
    await changeProfiles((from) => {
      const profile = from.profiles[named]
      return profile === undefined ? from : { ...from, profiles: { ...from.profiles, [named]: { ...profile, oauth } } }
    })
    return oauth.access_token
  })
}

async function storedTokens(named: string): Promise<{ url: string; tokens: OauthTokens } | undefined> {
  const { profiles } = await readProfiles()
  const profile = Object.hasOwn(profiles, named) ? profiles[named] : undefined
  return profile?.oauth === undefined ? undefined : { url: profile.url, tokens: profile.oauth }
}
