import { inRuntimes } from '../../runtimes/fetched.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { openBun } from './bun.js'
import { describeConformance } from './conformance.js'
import { useRedis } from './use-redis.js'

const redis = useRedis()
beforeAll(() => inRuntimes('.bin/bun'), INSTALL_TIMEOUT_MS)

describeConformance("redisStore with Bun's client", () => redis.server.url, openBun, 'sample')
