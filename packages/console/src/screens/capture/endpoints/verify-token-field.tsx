import { LIMITS } from '@postroad/contract'
import type { ReactElement } from 'react'
import { Field } from '../../../ui/field.tsx'

/** The verify token of a sender whose handshake compares one. */
export function VerifyTokenField({
  value,
  change,
}: {
  readonly value: string
  readonly change: (token: string) => void
}): ReactElement {
  return (
    <Field
      label="Verify token"
      type="password"
      autoComplete="new-password"
      required
      maxLength={LIMITS.verifyTokenCharsMax}
      value={value}
      onChange={({ target }) => change(target.value)}
      hint="Enter the same token at the sender. The sender checks it once, before it sends events. Write-only."
    />
  )
}
