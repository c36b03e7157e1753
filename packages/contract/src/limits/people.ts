/** Limits of members, invites, keys and signing in. */
export const people = {
  // Workspaces and people
  inviteMs: 604_800_000,
  invitesOpenMax: 200,

  // SSO requests
  ssoDomainsMax: 20,
  ssoNoteCharsMax: 1_000,
  ssoReasonCharsMax: 500,

  // Signing in
  emailCharsMax: 254,
  passwordCharsMin: 12,
  passwordCharsMax: 256,
  passkeysPerUserMax: 20,
  mailLinkMs: 900_000,
  recentSignInMs: 900_000,
  passkeyChallengeMs: 300_000,
  oidcSignInMs: 600_000,
  sessionIdleMs: 43_200_000,
  sessionMs: 604_800_000,
  sessionSeenEveryMs: 60_000,

  apiKeyUsePersistMs: 60_000,
  bootstrapKeyMs: 7_776_000_000,
  commandLineKeyMs: 3_600_000,
} as const
