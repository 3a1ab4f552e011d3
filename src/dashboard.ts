/**
 * A live page about limiters, which you mount in your application.
 *
 * @module
 */

export { type Dashboard, dashboard } from './dashboard/server/dashboard.js'
export type { DashboardOptions } from './dashboard/server/options.js'
