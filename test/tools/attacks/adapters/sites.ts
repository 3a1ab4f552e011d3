import { express4Site, express5Site } from './express.js'
import { fastifySite } from './fastify.js'
import { honoSite } from './hono.js'
import { koaSite } from './koa.js'
import type { SiteOf } from './login.js'
import { nestSites } from './nest.js'
import { nodeHttpSite } from './node-http.js'

/** A site of each framework. */
export const SITES: readonly SiteOf[] = [
  express5Site,
  express4Site,
  nodeHttpSite,
  koaSite,
  fastifySite,
  honoSite,
  ...nestSites,
]
