import type { TransformLanguage } from '@postroad/contract'

const NAMES: Readonly<Record<TransformLanguage, string>> = { js: 'JavaScript', ts: 'TypeScript' }

export const languageName = (language: TransformLanguage): string => NAMES[language]

export const LANGUAGES: readonly TransformLanguage[] = ['js', 'ts']

export const languageOf = (value: string): TransformLanguage => (value === 'ts' ? 'ts' : 'js')
