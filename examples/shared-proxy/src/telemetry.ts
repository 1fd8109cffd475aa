/**
 * Traces and metrics for an OpenTelemetry collector, with the standard's own settings (`OTEL_…`), which the SDK reads itself. Loaded
 * only where there is one to send to.
 */
import { metrics } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { instrumentOwnerSso } from '@owner-sso/opentelemetry'

/** @returns what sends the rest, and ends it */
export function startTelemetry(): () => Promise<unknown> {
  const named = resourceFromAttributes({ 'service.name': 'owner-sso-shared-proxy' })
  const resource = named.merge(detectResources({ detectors: [envDetector] }))
  const tracing = new NodeTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  })
  tracing.register()
  const metering = new MeterProvider({
    resource,
    readers: [new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter() })],
  })
  metrics.setGlobalMeterProvider(metering)
  instrumentOwnerSso()
  return () => Promise.all([tracing.shutdown(), metering.shutdown()])
}
