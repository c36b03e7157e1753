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

  // Agent self-registration
  agentRegistrationBodyBytesMax: 16_384,
  /** Requests for challenges and registrations that may wait in one process. The next one is refused with 503. */
  agentRegistrationsWaitingMax: 256,
  agentContactCharsMax: 200,
  /** Attempts of one address (of one /64 with IPv6) with a signed challenge, and one more for each refill. */
  agentRegistrationBurst: 5,
  agentRegistrationRefillMs: 720_000,
  agentChallengeBurst: 20,
  agentChallengeRefillMs: 30_000,
  agentRegistrationsPerDayDefault: 100,
  agentRegistrationsPerDayMax: 100_000,
  /** Iterations of PBKDF2 that a solution needs on average while few agents have registered. */
  agentWorkDefault: 10_000_000,
  agentWorkMax: 1_000_000_000,
  agentChallengeMs: 600_000,
  /** The lifetime of the hardest challenges, which take longer. */
  agentHardChallengeMs: 1_800_000,
  agentRegistrationRunningMs: 60_000,
  agentRegistrationRetentionMs: 86_400_000,

  // Connected agents
  accessTokenMs: 3_600_000,
  /** A refresh token that is unused for this long ends the connection. */
  refreshTokenMs: 2_592_000_000,
  authorizationCodeMs: 60_000,
  /** The time in which a person may decide about a client or a device. */
  consentMs: 900_000,
  oauthBodyBytesMax: 32_768,
  /** Anyone can send an authorization request, and the server stores it until a person decides about it. */
  authorizationUrlCharsMax: 8_192,
  clientNameCharsMax: 80,
  redirectUrisMax: 20,
  /** Codes of devices that a person may try in a burst, and one more for each refill. */
  userCodeTriesBurst: 10,
  userCodeTriesRefillMs: 60_000,
  /** Clients that one address (one /64 with IPv6) may register in a burst, and one more for each refill. */
  clientRegistrationBurst: 20,
  clientRegistrationRefillMs: 60_000,
  /** Client id metadata documents that the server fetches for one address in a burst, and one more for each refill. */
  clientDocumentBurst: 20,
  clientDocumentRefillMs: 10_000,
  clientDocumentBytesMax: 16_384,
  /** A registered client that nobody has connected for this long is removed. */
  unusedClientMs: 86_400_000,
  revokedAgentRetentionMs: 2_592_000_000,
  agentUsePersistMs: 60_000,
  agentRefusalPersistMs: 1_000,

  apiKeyUsePersistMs: 60_000,
  bootstrapKeyMs: 7_776_000_000,
  commandLineKeyMs: 3_600_000,
} as const
