import { asRequest } from '../keys/request.js'
import { show } from '../util/validate.js'
import { warnOnce } from '../util/warn-once.js'
import { pathOf } from './place.js'

/** What a guard knows about a success that cleared nothing. */
interface Missed {
  /** Whether the application's `succeeded` said that it was a success. */
  readonly isDecided: boolean
  /** Whether a 401 there would prove that passwords are checked. */
  readonly isUnproven: boolean
}

/** Reports a success that cleared nothing, once for each guard. */
export function warnOfPlace(guard: string, req: unknown, { isDecided, isUnproven }: Missed): void {
  let reason =
    "it does not know whether a password was checked. Set path, such as path: '/login', call " +
    'guard.reportSuccess(req), or respond to wrong passwords with 401.'
  if (isUnproven)
    reason =
      'something (a wrapper, an agent or a mounted application) hides whether the guard is in this route ' +
      'only, and no wrong password has got a 401 here. If wrong passwords get another status, such as ' +
      "400, 403 or 422, set path, such as path: '/login', or call guard.reportSuccess(req)."
  else if (isDecided) reason += ' If none was checked, let succeeded return false.'
  else reason += ' For methods other than POST, set succeeded.'
  warnOnce(
    'HEADGATE_LOGIN_PATH',
    `headgate: loginGuard ${show(guard)} saw a successful response (${requestOf(req)}), but cleared no failures: ${reason}`,
    guard,
  )
}

/** Reports, once for each guard, that failures at a login do not count as failures in a row. */
export function warnOfUncounted(guard: string, req: unknown): void {
  warnOnce(
    'HEADGATE_LOGIN_PATH',
    `headgate: loginGuard ${show(guard)} does not count failures in a row (${requestOf(req)}), so it locks no account: ` +
      'only a 401 shows that passwords are checked here, and a process that has sent none clears no failures. ' +
      "Set path, such as path: '/login', or consecutive: false.",
    `${guard} in a row`,
  )
}

function requestOf(req: unknown): string {
  return show(`${asRequest(req).method} ${pathOf(req)}`)
}
