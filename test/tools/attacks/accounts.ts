/** The account whose password is guessed. Its password is the 101st of the attacker's list. */
export const VICTIM = 'ada'
/** An account with letters of which there are several spellings. */
export const SPELT_VICTIM = 'ada groß σίσυφος 1815'
/** An account that is called by a number. */
export const NUMBERED_VICTIM = '4711'
/** The attacker's own account. */
export const OWN = { account: 'mallory', password: 'a password of her own' }
/**
 * The attacker's own account whose name is the victim's in another case. The guard folds both names into
 * one; only an application that compares names as they are typed has two accounts.
 */
export const TWIN = { account: 'ADA', password: 'another password of her own' }
/** What one account in a hundred has for a password, and the attacker knows. */
export const LEAKED = 'winter-2025'

/** The password that comes at a place of the attacker's list, counted from 0. */
export function guessAt(place: number): string {
  return `guess ${place + 1}`
}

const PASSWORD_PLACE = 100

/** One of the 1000 other accounts. */
export function accountAt(index: number): string {
  return `user-${String(index).padStart(3, '0')}`
}

const PASSWORDS: ReadonlyMap<string, string> = new Map([
  ...[VICTIM, SPELT_VICTIM, NUMBERED_VICTIM].map((name) => [name, guessAt(PASSWORD_PLACE)] as const),
  [OWN.account, OWN.password] as const,
  [TWIN.account, TWIN.password] as const,
  ...Array.from({ length: 1000 }, (_, i) => {
    return [accountAt(i), i % 100 === 25 ? LEAKED : `a long one of my own, ${i}`] as const
  }),
])

/** Takes names as one as databases do: whatever the case and the width, and without what cannot be seen. */
const collator = new Intl.Collator('en', { sensitivity: 'accent' })

/** The account that the application takes a name for. */
export function accountOf(name: unknown): string | undefined {
  if (typeof name !== 'string' && typeof name !== 'number') return undefined
  const wanted = String(name).trim()
  if (PASSWORDS.has(wanted)) return wanted
  return [...PASSWORDS.keys()].find((account) => collator.compare(account, wanted) === 0)
}

/** The account of a name in an application that compares names as they are typed. */
export function accountAsTyped(name: unknown): string | undefined {
  return typeof name === 'string' && PASSWORDS.has(name) ? name : undefined
}

export function passwordOf(account: string): string {
  return PASSWORDS.get(account) ?? ''
}
