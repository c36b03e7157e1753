import { DOTS } from '../../../domain/delivery/sent-request.ts'
import type { Target } from '../target.ts'

/** Another system may repeat the secret that it received. */
export function withoutSecrets(text: string, { auth }: Pick<Target, 'auth'>): string {
  return auth === null || auth.secret === '' ? text : text.replaceAll(auth.secret, DOTS)
}
