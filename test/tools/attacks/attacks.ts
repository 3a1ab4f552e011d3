import type { Attack } from './attack.js'
import { deviceCookies } from './device-cookies.js'
import { disguises } from './disguises.js'
import { paces } from './pace.js'
import { redirects } from './redirects.js'
import { shapes } from './shapes.js'
import { slowLogins } from './slow-logins.js'

/** All attacks, in the order of the table. */
export const ATTACKS: readonly Attack[] = [
  ...shapes,
  ...paces,
  ...slowLogins,
  ...redirects,
  ...disguises,
  ...deviceCookies,
]
