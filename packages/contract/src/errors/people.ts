import type { ReasonTexts } from './reason-texts.ts'

/** Refusals about members, invites, API keys, signing in and accounts. */
export const people = {
  api_key_expired: { status: 401, text: 'This API key has expired. Create a new one in the console.' },
  api_key_revoked: { status: 401, text: 'This API key was revoked. Create a new one in the console.' },
  member_limit_reached: {
    status: 403,
    text: 'The plan allows no more members. Remove one, or move to a larger plan at upgrade_url.',
  },
  invite_over: { status: 404, text: 'This invite was used already, was revoked or has expired. Ask for a new one.' },
  invite_for_another: {
    status: 403,
    text: 'This invite is for another email address. Sign in to the account that has the address it was sent to, or confirm that address for yours.',
  },
  last_owner: { status: 409, text: 'A workspace must have an owner. Transfer the ownership to another member first.' },
  sign_in_failed: {
    status: 401,
    text: 'The email address or the password is wrong. Try again, or ask for a link by mail.',
  },
  link_over: { status: 401, text: 'This link was used already or has expired. Ask for a new one.' },
  recent_sign_in_required: {
    status: 403,
    text: 'This change needs a sign-in within the last 15 minutes, and this session is older. Sign in again, then repeat the change.',
  },
  passkey_refused: { status: 401, text: 'This passkey was not accepted here. Try again, or sign in another way.' },
  no_account: {
    status: 403,
    text: 'Nobody here has this account yet. Ask an admin to invite you, then sign in again.',
  },
  no_workspace: { status: 403, text: 'You are in no workspace. Accept an invite, or ask an admin for one.' },
  email_domain_not_allowed: {
    status: 403,
    text: 'Accounts of this email domain may not sign in here. Use your work account.',
  },
  wrong_password: {
    status: 403,
    text: 'The current password is wrong. Try again, or sign out and ask for a reset by mail.',
  },
  weak_password: {
    status: 400,
    text: 'The password is too easy to guess. Use at least 12 characters; three or four unrelated words are good.',
  },
  email_taken: { status: 409, text: 'Another account has this email address. Sign in to that one instead.' },
  passkeys_unavailable: {
    status: 409,
    text: 'Passkeys need a host name. Set PUBLIC_URL to a name instead of an IP address.',
  },
  passkey_limit_reached: { status: 409, text: 'This account has as many passkeys as it may have. Remove one first.' },
  too_many_attempts: { status: 429, text: 'Too many attempts. Wait for retry_after seconds, then try again.' },
  oidc_not_configured: {
    status: 404,
    text: 'No identity provider is set up here. Sign in with an email address and password, or by a link.',
  },
  oidc_state_lost: {
    status: 400,
    text: 'This sign-in was begun in another browser, or more than 10 minutes ago. Begin again.',
  },
  identity_provider_error: {
    status: 502,
    text: 'The identity provider did not answer as it should. Try again in a moment; the log of the server says why.',
  },
} as const satisfies ReasonTexts
