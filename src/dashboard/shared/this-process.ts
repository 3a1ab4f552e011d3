import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { processWide } from '../../util/process-wide.js'

/** Replaced by the build. */
declare const PACKAGE_VERSION: string | undefined

/** A process, as the others see it. */
export interface ProcessIdentity {
  readonly id: string
  readonly host: string
  readonly pid: number
  /** The version of this package. */
  readonly version: string
  readonly startedAtMs: number
}

/** Returns this process, the same for all dashboards in it. */
export function thisProcess(): ProcessIdentity {
  return processWide('dashboardProcess', () => ({
    id: randomBytes(9).toString('base64url'),
    host: hostname().slice(0, 100),
    pid: process.pid,
    version: typeof PACKAGE_VERSION === 'string' ? PACKAGE_VERSION : 'development',
    startedAtMs: Math.round(Date.now() - 1000 * process.uptime()),
  }))
}
