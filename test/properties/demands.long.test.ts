import { testDemands } from './demand-properties.js'

testDemands(200)
