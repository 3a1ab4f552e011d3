import { describeAttacks } from './adapters/describe-attacks.js'
import { express5Site } from './adapters/express.js'
import { fastifySite } from './adapters/fastify.js'

// One that reads the body of a GET request, and one that does not.

describeAttacks([express5Site, fastifySite])
