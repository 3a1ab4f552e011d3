import 'reflect-metadata'
import {
  All,
  Body,
  Controller,
  Get,
  HttpCode,
  HttpException,
  Module,
  Options,
  Post,
  UseGuards,
} from '@nestjs/common'
import type { NestFactory } from '@nestjs/core'
import type { FastifyAdapter } from '@nestjs/platform-fastify'
import { loginGuard, RateLimitModule } from 'headgate/nest'
import { loginStatus } from '../adapters/login.js'
import type { Listen, NeighborMount, SiteContext } from './server.js'

function check(body: unknown): string {
  const status = loginStatus(body)
  if (status !== 200) throw new HttpException('wrong', status)
  return 'welcome'
}

/** Returns a new module, with its own guards, at each call. */
function siteModule(options: SiteContext['options']) {
  const guards = (mount: NeighborMount) => loginGuard(options(mount) as never)
  const two = guards('two')

  @Controller('route')
  class RouteController {
    @Post('login')
    @HttpCode(200)
    @UseGuards(guards('route'))
    login(@Body() body: unknown): string {
      return check(body)
    }
  }

  @Controller('prefix')
  @UseGuards(guards('prefix'))
  class PrefixController {
    @Post('login')
    login(@Body() body: unknown): string {
      return check(body)
    }

    @Get('login')
    form(): string {
      return 'the form'
    }

    @Options('login')
    options(): string {
      return 'GET, POST'
    }

    @Post('forgot')
    forgot(): string {
      return 'see your mail'
    }
  }

  @Controller('all')
  class AllController {
    @All('login')
    @UseGuards(guards('all'))
    login(@Body() body: unknown): string {
      return check(body)
    }
  }

  @Controller('two')
  class LoginController {
    @Post('login')
    @UseGuards(two)
    login(@Body() body: unknown): string {
      return check(body)
    }
  }

  @Controller('two')
  class ForgotController {
    @Post('forgot')
    @UseGuards(two)
    forgot(): string {
      return 'see your mail'
    }
  }

  @Module({
    imports: [RateLimitModule.forRoot({})],
    controllers: [RouteController, PrefixController, AllController, LoginController, ForgotController],
  })
  class SiteModule {}
  return SiteModule
}

export async function listenOnNest(
  platform: 'express' | 'fastify',
  { load, options }: SiteContext,
): Promise<Listen> {
  const { NestFactory: Factory } = load<{ NestFactory: typeof NestFactory }>('@nestjs/core')
  return async () => {
    const adapter =
      platform === 'fastify'
        ? [new (load<{ FastifyAdapter: typeof FastifyAdapter }>('@nestjs/platform-fastify').FastifyAdapter)()]
        : []
    const app = await Factory.create(siteModule(options), ...(adapter as []), { logger: ['error'] })
    await app.listen(0, '::1')
    return app.getHttpServer().address().port
  }
}
