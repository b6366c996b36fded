import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.RetryInfo;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.lite.ProtoLiteUtils;
import java.time.Duration;
import java.util.Iterator;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import taoloop.api.v1.Loop.RunEvent;
import taoloop.api.v1.Loop.SubmitRequest;
import taoloop.api.v1.Loop.Task;
import taoloop.api.v1.Loop.WatchRequest;
import taoloop.api.v1.Loop.WatchResponse;
import taoloop.api.v1.LoopServiceGrpc;
import taoloop.api.v1.LoopServiceGrpc.LoopServiceBlockingStub;
import taoloop.api.v1.Types.Role;
import taoloop.api.v1.Types.Turn;

/**
 * A backend in Java: starts a run under a request id of its own, follows it over broken connections, and prints what came
 * of it. The stubs are generated from proto/ (see the README beside this directory).
 *
 * <p>{@code java Backend [ADDRESS]}
 */
public final class Backend {
  private static final String QUESTION = "订单 20260308000012345 的快递到哪里了？";
  private static final Metadata.Key<com.google.rpc.Status> DETAILS =
      Metadata.Key.of(
          "grpc-status-details-bin", ProtoLiteUtils.metadataMarshaller(com.google.rpc.Status.getDefaultInstance()));
  private static final long FIRST_PAUSE_MILLIS = 100;
  private static final long LONGEST_PAUSE_MILLIS = 2_000;

  private final LoopServiceBlockingStub loop;
  private final long endNanos;

  private Backend(LoopServiceBlockingStub loop, Duration time) {
    this.loop = loop;
    this.endNanos = System.nanoTime() + time.toNanos();
  }

  public static void main(String[] arguments) throws InterruptedException {
    String address = arguments.length > 0 ? arguments[0] : "127.0.0.1:7701";
    // On a network leave usePlaintext() out. Calls are spread over the addresses of a headless service.
    ManagedChannel channel =
        ManagedChannelBuilder.forTarget(address).defaultLoadBalancingPolicy("round_robin").usePlaintext().build();
    try {
      new Backend(LoopServiceGrpc.newBlockingStub(channel), Duration.ofSeconds(30)).run();
    } catch (StatusRuntimeException failure) {
      System.err.println(failure.getStatus());
      System.exit(1);
    } finally {
      channel.shutdownNow().awaitTermination(5, TimeUnit.SECONDS);
    }
  }

  private void run() throws InterruptedException {
    // The same request id with the same task attaches to the run, so that starting it again is safe.
    Task task =
        Task.newBuilder()
            .setRequestId("java-" + UUID.randomUUID())
            .addTurns(Turn.newBuilder().setRole(Role.ROLE_USER).setText(QUESTION))
            .setTimeZone("Asia/Shanghai")
            .build();
    SubmitRequest request = SubmitRequest.newBuilder().setTask(task).build();
    String runId = repeatedly(() -> inTime().submit(request)).getRunId();
    follow(runId, Backend::show);
  }

  private static void show(RunEvent event) {
    String said =
        switch (event.getBodyCase()) {
          case STEP_STARTED -> "calls " + event.getStepStarted().getTool();
          case INPUT_REQUIRED -> "asks: " + event.getInputRequired().getFieldsList(); // ProvideInput answers
          case ANSWER -> "answers " + event.getAnswer().getText();
          case FINISHED -> "ends " + event.getFinished().getOutcome();
          default -> "";
        };
    if (!said.isEmpty()) {
      System.out.println(event.getSequence() + " " + said);
    }
  }

  /** Passes every event of a run on once, in order, until the run ends or rests. */
  private void follow(String runId, Consumer<RunEvent> on) throws InterruptedException {
    long[] next = {1};
    repeatedly(
        () -> {
          WatchRequest request = WatchRequest.newBuilder().setRunId(runId).setFromSequence(next[0]).build();
          Iterator<WatchResponse> replies = inTime().watch(request);
          while (replies.hasNext()) {
            RunEvent event = replies.next().getEvent();
            if (event.getSequence() >= next[0]) {
              next[0] = event.getSequence() + 1;
              on.accept(event);
            }
          }
          return null;
        });
  }

  /** Makes a call until it succeeds, fails for good, or has no time left. */
  private <T> T repeatedly(Supplier<T> call) throws InterruptedException {
    for (int failures = 0; ; failures++) {
      try {
        return call.get();
      } catch (StatusRuntimeException failure) {
        long pause = pauseMillis(failure, failures);
        if (pause < 0 || System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(pause) >= endNanos) {
          throw failure;
        }
        Thread.sleep(pause);
      }
    }
  }

  /** Returns how long to wait before a call is made again; -1 where that is of no use. */
  private static long pauseMillis(StatusRuntimeException failure, int failures) {
    Status.Code code = failure.getStatus().getCode();
    RetryInfo told = retryInfo(failure);
    boolean isFull = code == Status.Code.RESOURCE_EXHAUSTED && told != null;
    if (code != Status.Code.UNAVAILABLE && code != Status.Code.ABORTED && !isFull) {
      return -1;
    }
    if (told != null) {
      long millis = told.getRetryDelay().getSeconds() * 1_000 + told.getRetryDelay().getNanos() / 1_000_000;
      return millis + ThreadLocalRandom.current().nextLong(millis / 5 + FIRST_PAUSE_MILLIS);
    }
    long longest = Math.min(FIRST_PAUSE_MILLIS << Math.min(failures, 16), LONGEST_PAUSE_MILLIS);
    return ThreadLocalRandom.current().nextLong(longest);
  }

  private static RetryInfo retryInfo(StatusRuntimeException failure) {
    com.google.rpc.Status details = failure.getTrailers() == null ? null : failure.getTrailers().get(DETAILS);
    if (details == null) {
      return null;
    }
    for (Any detail : details.getDetailsList()) {
      if (detail.is(RetryInfo.class)) {
        try {
          return detail.unpack(RetryInfo.class);
        } catch (InvalidProtocolBufferException broken) {
          return null; // a service that says nothing useful is one that says nothing
        }
      }
    }
    return null;
  }

  private LoopServiceBlockingStub inTime() {
    return loop.withDeadlineAfter(Math.max(1, endNanos - System.nanoTime()), TimeUnit.NANOSECONDS);
  }
}
