import type { ReasonTexts } from './reason-texts.ts'

/** Refusals about members, invites, API keys, signing in and accounts. */
export const people = {
  api_key_expired: { status: 401, text: 'This API key has expired. Create a new one in the console.' },
  api_key_revoked: { status: 401, text: 'This API key was revoked. Create a new one in the console.' },
  access_token_invalid: {
    status: 401,
    text: 'This access token is not valid here, or it has expired. Refresh it, or connect the agent again.',
  },
  agent_revoked: {
    status: 401,
    text: 'This agent is no longer connected. Connect it again to continue.',
  },
  consent_over: {
    status: 404,
    text: 'This request has expired, or it was started in another browser. Start again in the program that asks.',
  },
  user_code_unknown: {
    status: 404,
    text: 'There is no request with this code. Check the code; it is valid for 15 minutes and works once.',
  },
  oauth_client_unknown: {
    status: 400,
    text: 'This program is not registered here. Remove its registration from the program, and connect it again.',
  },
  member_limit_reached: {
    status: 403,
    text: 'The plan’s member limit is reached. Remove a member, or move to a larger plan at upgrade_url.',
  },
  invite_over: { status: 404, text: 'This invite was already used or revoked, or it has expired. Ask for a new one.' },
  invite_for_another: {
    status: 403,
    text: 'This invite was sent to another email address. Sign in to the account with that address, or change the address of your account to it.',
  },
  last_owner: { status: 409, text: 'A workspace must have an owner. Transfer the ownership to another member first.' },
  sign_in_failed: {
    status: 401,
    text: 'The email address or the password is wrong. Try again, or ask for a link by email.',
  },
  link_over: { status: 401, text: 'This link was already used, or it has expired. Ask for a new one.' },
  recent_sign_in_required: {
    status: 403,
    text: 'This change needs a sign-in within the last 15 minutes, and this session is older. Sign in again, then repeat the change.',
  },
  passkey_refused: { status: 401, text: 'This passkey was not accepted here. Try again, or sign in another way.' },
  no_account: {
    status: 403,
    text: 'No account here belongs to this identity yet. Ask an admin to invite you, then sign in again.',
  },
  no_workspace: {
    status: 403,
    text: 'You are not a member of any workspace. Accept an invite, or ask an admin for one.',
  },
  sso_not_available: {
    status: 501,
    text: 'A workspace cannot configure its own identity provider on this version of Postroad. Request SSO with POST /admin/api/sso/requests.',
  },
  email_domain_not_allowed: {
    status: 403,
    text: 'Accounts with this email domain cannot sign in here. Use your work account.',
  },
  wrong_password: {
    status: 403,
    text: 'The current password is wrong. Try again, or sign out and ask for a reset by email.',
  },
  weak_password: {
    status: 400,
    text: 'The password is too easy to guess. Use at least 12 characters; three or four unrelated words work well.',
  },
  email_taken: { status: 409, text: 'Another account has this email address. Sign in to that one instead.' },
  passkeys_unavailable: {
    status: 409,
    text: 'Passkeys need a host name. Set PUBLIC_URL to a name instead of an IP address.',
  },
  passkey_limit_reached: { status: 409, text: 'This account has the maximum number of passkeys. Remove one first.' },
  too_many_attempts: { status: 429, text: 'Too many attempts. Wait retry_after seconds, then try again.' },
  oidc_not_configured: {
    status: 404,
    text: 'No identity provider is set up here. Sign in with an email address and password, or with an emailed link.',
  },
  oidc_state_lost: {
    status: 400,
    text: 'This sign-in was started in another browser or more than 10 minutes ago. Start again.',
  },
  claim_over: {
    status: 404,
    text: 'This claim token does not exist, or the account was already claimed. Ask the agent for the token of its account.',
  },
  invalid_agent_name: {
    status: 400,
    text: 'agent_name: send a name of 1 to 120 characters, without control characters.',
  },
  invalid_operator_contact: {
    status: 400,
    text: 'operator_contact: send an email address or a URL of at most 200 characters, or leave it out.',
  },
  terms_not_accepted: {
    status: 400,
    text: 'accept_terms: read the Terms, and send terms_version if you accept them.',
  },
  proof_of_work_required: {
    status: 400,
    text: 'Get a challenge from GET /v1/agents/register/challenge, solve it, and send challenge and solution.',
  },
  challenge_expired: { status: 400, text: 'This challenge has expired. Get a new one, and send its solution earlier.' },
  invalid_proof_of_work: {
    status: 400,
    text: 'The solution does not solve the challenge. Send a counter whose key starts with keyPrefix, and the whole key as derivedKey.',
  },
  body_too_large: { status: 413, text: 'The body of a registration has at most 16 KiB. Send a smaller one.' },
  already_registered: {
    status: 409,
    text: 'A registration with this Idempotency-Key is complete, and its key was shown then. Register again with a new challenge and a new Idempotency-Key.',
  },
  registration_in_progress: {
    status: 409,
    text: 'A registration with this challenge or Idempotency-Key is running. Wait for its response.',
  },
  challenge_spent: {
    status: 409,
    text: 'This challenge was already used for an account, and its key was shown then. Get a new challenge.',
  },
  daily_cap_reached: {
    status: 429,
    text: 'The daily limit of agent registrations on this server is reached. Try again after retry_after seconds.',
  },
  source_daily_limit: {
    status: 429,
    text: 'The daily limit of agent registrations from your network is reached. Try again after retry_after seconds.',
  },
  agent_registration_disabled: {
    status: 503,
    text: 'The operator of this server has turned off agent registration. Ask a person for an API key.',
  },
  agent_registration_unavailable: {
    status: 503,
    text: 'Agents cannot register now. Try again later, or ask a person for an API key.',
  },
  registration_incomplete: {
    status: 503,
    text: 'The server lost its database connection while it registered the agent. Send the same request again after a minute. The response reports the account if it was created.',
  },
  identity_provider_error: {
    status: 502,
    text: 'The identity provider did not respond correctly. Try again in a moment; the server log contains the cause.',
  },
} as const satisfies ReasonTexts
