import type { ErrorCode, SendResult } from './ports.ts'

export type Verdict =
  | { readonly next: 'delivered' }
  /** Nothing was sent, because the transform of the destination says so. */
  | { readonly next: 'cancel' }
  | { readonly next: 'retry'; readonly error_code: ErrorCode; readonly retry_after_seconds: number | null }
  | { readonly next: 'disable'; readonly error_code: ErrorCode }
  /** The event itself cannot be delivered, which says nothing about the destination. */
  | { readonly next: 'fail'; readonly error_code: ErrorCode }

/** Only these two statuses give a credible retry time. */
const SAYS_WHEN: readonly number[] = [429, 503]

/**
 * Decides what the result of one send means for its delivery. Over HTTP only a complete 2xx head is success, whatever happened to
 * its body. 3xx is a failure, and redirects are never followed. 410 disables the destination. Everything else is retried, except
 * an event that its destination can never take.
 */
export function judge(result: Exclude<SendResult, { type: 'unsent' }>): Verdict {
  if (result.type === 'accepted') return { next: 'delivered' }
  if (result.type === 'skipped') return { next: 'cancel' }
  if (result.type === 'failure' && result.permanent === true) return { next: 'fail', error_code: result.error_code }
  if (result.type === 'failure') return retry(result.error_code)
  const { status } = result
  if (status >= 200 && status < 300) return { next: 'delivered' }
  if (status >= 300 && status < 400) return retry('redirect')
  if (status === 410) return { next: 'disable', error_code: 'bad_status' }
  return retry('bad_status', SAYS_WHEN.includes(status) ? result.retry_after_seconds : null)
}

function retry(error_code: ErrorCode, retry_after_seconds: number | null = null): Verdict {
  return { next: 'retry', error_code, retry_after_seconds }
}
