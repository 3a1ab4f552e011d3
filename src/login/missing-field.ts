import { asRequest, headerOf } from '../keys/request.js'
import { show, showName } from '../util/validate.js'
import { warnOnce } from '../util/warn-once.js'

/** The most names of a body that a warning lists. */
const MAX_NAMES = 8

/**
 * Reports a request without the field that has the user name, once for each guard: probably the field has
 * another name, or no body parser runs in front. Shows the names in the body, which a client may have
 * invented, and never a value.
 */
export function warnOfMissingField(guard: string, field: string, req: unknown): void {
  const { body } = asRequest(req)
  const type = headerOf(req, 'content-type')
  if (body === undefined && type === undefined) return
  const names = typeof body === 'object' && body !== null ? Object.keys(body) : []
  warnOnce(
    'HEADGATE_LOGIN_FIELD',
    `headgate: loginGuard ${show(guard)} found no field ${show(field)}, so it responded with ` +
      `400. ${names.length > 0 ? namesOf(names) : bodyHint(body, type)}`,
    `${guard} ${field}`,
  )
}

function namesOf(names: readonly string[]): string {
  const listed = names.slice(0, MAX_NAMES).map(showName).join(', ')
  const others = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} others` : ''
  return `The body has ${listed}${others}. Set field to the one with the user name.`
}

function bodyHint(body: unknown, type: string | undefined): string {
  const problem = body === undefined ? 'No body was parsed' : 'The parsed body has no fields'
  const fix = 'Mount a body parser before the guard, such as express.urlencoded()'
  return `${problem} (content type: ${type === undefined ? 'missing' : show(type)}). ${fix}.`
}
