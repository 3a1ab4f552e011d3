import { didYouMean } from '../arguments.js'
import { UsageError } from '../failures.js'
import type { FieldRole, OwnNames } from '../log/field-names.js'

const ROLES = [
  'client',
  'forwarded',
  'time',
  'user',
  'method',
  'path',
  'request',
] as const satisfies FieldRole[]

/** Returns the names in the option `--fields`, such as `client=peer,time=at`. */
export function readFieldNames(text: string | undefined): OwnNames {
  const names: OwnNames = {}
  for (const part of text?.split(',') ?? []) {
    const equalsAt = part.indexOf('=')
    const [role, name] = [part.slice(0, equalsAt), part.slice(equalsAt + 1).trim()]
    if (equalsAt < 0 || name === '') {
      const must = `names such as client=peer,time=at, got ${JSON.stringify(text)}`
      throw new UsageError(`--fields must be ${must}`)
    }
    const known = readRole(role.trim())
    if (names[known] !== undefined) throw new UsageError(`--fields has two fields for ${known}`)
    names[known] = name
  }
  return names
}

function readRole(text: string): FieldRole {
  const role = ROLES.find((each) => each === text)
  if (role !== undefined) return role
  const must = `must name ${ROLES.join(', ')}, got ${JSON.stringify(text)}`
  throw new UsageError(`--fields ${must}${didYouMean('', text, ROLES)}`)
}
